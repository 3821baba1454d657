// A Pasa bot in Node: the most, until the lead is too large to be taken back.
// Run it with: command: [node, docs/programs/hard.js]
"use strict";
const lines = require("readline").createInterface({ input: process.stdin });
let perTurn = 75;

lines.on("line", (line) => {
  const message = JSON.parse(line);
  if ("protocol" in message) {
    perTurn = message.params.per_turn ?? perTurn;
    say({ protocol: 1 });
  } else if ("decide" in message) {
    const view = message.view;
    const isSafe = view.lead > perTurn * view.turns_left;
    say({ action: isSafe ? view.least_stake : view.most_stake });
  } // {"start": N}: a new match; this bot remembers nothing, so there is nothing to do
});

function say(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
}
