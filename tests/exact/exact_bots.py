"""The policies of reference/pasa_exact.md, written for these tests."""

from ladder.games.pasa import PasaBot


class Least(PasaBot):
    @staticmethod
    def stake(view, params):
        return view.least_stake


class Most(PasaBot):
    @staticmethod
    def stake(view, params):
        return view.most_stake


class Uniform(PasaBot):
    @staticmethod
    def stake(view, params):
        return view.legal[view.luck % view.num_legal]

    @staticmethod
    def luck_ways(view, params):
        return view.num_legal


class Bold(PasaBot):
    lead: int = 50

    @staticmethod
    def stake(view, params):
        return view.least_stake if view.lead >= params.lead else view.most_stake


class Easy(PasaBot):
    @staticmethod
    def stake(view, params):
        if view.lead > 0 and view.luck % 2 == 0:
            return view.most_stake
        return view.legal[view.luck // 2 % view.num_legal]

    @staticmethod
    def luck_ways(view, params):
        return 2 * view.num_legal
