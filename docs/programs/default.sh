#!/usr/bin/env bash
# A bot for either game in plain bash: the first legal action, which is the default move.
# Run it with: command: [bash, docs/programs/default.sh]
while read -r line; do
  case $line in
    '{"protocol":'*) echo '{"protocol":1}' ;;
    '{"decide":'*) legal=${line#*'"legal":['}; echo "${legal%%[],]*}" ;;  # a bare number will do
  esac
done
