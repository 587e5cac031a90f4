// Asks the site's own search: node tests/search.js SITE QUERY... prints the pages found for each query, best first.
"use strict";

const fs = require("fs");
const path = require("path");

const [site, ...queries] = process.argv.slice(2);
const folder = path.join(site, "assets/javascripts/workers");
const [worker] = fs.readdirSync(folder).filter((name) => /^search\..*\.js$/.test(name));
const index = JSON.parse(fs.readFileSync(path.join(site, "search/search_index.json"), "utf-8"));
const [SETUP, QUERY] = [0, 2];

// What a browser gives to a worker.
let listener;
globalThis.self = globalThis;
globalThis.addEventListener = (_, added) => {
  listener = added;
};
(0, eval)(fs.readFileSync(path.join(folder, worker), "utf-8"));

function ask(type, data) {
  return new Promise((resolve) => {
    globalThis.postMessage = (reply) => resolve(reply.data);
    listener({ data: { type, data } });
  });
}

async function main() {
  await ask(SETUP, { ...index, options: {} });
  const found = {};
  for (const query of queries) {
    const { items } = await ask(QUERY, query);
    found[query] = items.map(([first]) => first.location.split("#")[0]);
  }
  console.log(JSON.stringify(found));
}

main();
