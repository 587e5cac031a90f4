"use strict";

// Whatever comes from an episode is added as text. Nothing is ever read as HTML.
function make(tag, className, ...inside) {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...inside);
  return element;
}

function counted(number, unit) {
  return `${number.toLocaleString("en")} ${unit}${number === 1 ? "" : "s"}`;
}

function foldable(className, heading, open, ...inside) {
  const details = make("details", className, make("summary", "", ...heading), ...inside);
  details.open = open;
  return details;
}

const isNode = (part) => typeof part === "object";

function totals(node) {
  const sum = { steps: node.steps, calls: node.calls, tokens: node.tokens };
  for (const child of node.parts.filter(isNode).map(totals)) {
    for (const key in sum) sum[key] += child[key];
  }
  return sum;
}

const effort = (of) => `${counted(of.steps, "step")}, ${counted(of.calls, "call")}, ${counted(of.tokens, "token")}`;

const holds = (node, entry) => node.parts.some((part) => isNode(part) ? holds(part, entry) : part === entry);

function treeOf(node, record, isRoot, path = []) {
  const isInner = node.parts.some(isNode);
  // Where the agent said nothing, the game tells of the whole episode, and of the parts in which it was won.
  const ended = { won: true, lost: false }[record.outcome] ?? null;
  const isWon = ended === true && holds(node, record.transcript.length - 1);
  const success = node.outcome ?? (isRoot || isWon ? ended : null);
  const [outcome, words] =
    success === null ? ["open", "… not said"] : success ? ["won", "✓ success"] : ["lost", "✗ failure"];
  // A node of a search tree was played elsewhere: it says itself how often it was visited, and what it is worth.
  const isBranch = node.role.endsWith("branch");
  const isChosen = node.role === "chosen branch";
  const heading = isBranch ? [
    make("span", `outcome ${outcome}`, node.outcome === null ? "·" : words), " ",
    make("span", isChosen ? "role chosen" : "role", isChosen ? "chosen" : node.role.replace(/ ?branch$/, "")), " ",
    make("span", isChosen ? "task" : "", node.task),
  ] : [
    make("span", `outcome ${outcome}`, words), " ",
    make("span", "role", node.role), " ",
    make("span", "task", node.task), " ",
    make("span", "quiet", `depth ${node.depth}; ${effort(totals(node))}`),
  ];
  const parts = node.parts.map((part, at) =>
    typeof part === "number" ? playOf(record, part)
    : typeof part === "string" ? make("pre", "written", part)
    : treeOf(part, record, false, [...path, at]));
  addCalls(parts, record.calls, path);
  if (isInner && node.steps + node.calls) parts.unshift(make("p", "quiet", `Of these its own: ${effort(node)}.`));
  if (isBranch && !parts.length) return make("div", `leaf ${outcome}`, ...heading);
  if (!parts.length) parts.push(make("p", "quiet", "This part has no actions and no notes."));
  // Parts that were divided stand open, so that the shape of the recursion is seen; attempts open on demand, and of a
  // search tree all but the chosen way.
  const isOpen = isRoot || (isInner && (!isBranch || isChosen));
  return foldable(`node ${outcome}`, heading, isOpen, make("div", "parts", ...parts));
}

function playOf(record, index) {
  const [action, observation] = record.transcript[index];
  const restore = record.restores.find(([entry]) => entry === index);
  const played = restore ? make("span", "reset", `back to entry ${restore[1]} of the transcript`)
    : action === null ? make("span", "reset", "reset") : make("code", "action", `> ${action}`);
  if (record.restores.length) played.append(make("span", "quiet", ` entry ${index}`));
  // The moment was shown when it was first reached.
  return restore ? make("div", "play", played) : make("div", "play", played, observationOf(observation));
}

// A call is shown before the part that came next. What is inside of it is made when it is opened.
function addCalls(parts, calls, path) {
  const isHere = ({ place }) => place.length === path.length + 1 && path.every((at, level) => at === place[level]);
  const own = calls.map((call, index) => [call, index]).filter(([call]) => isHere(call));
  for (const [call, index] of own.reverse()) parts.splice(call.place.at(-1), 0, callOf(calls, index));
}

function callOf(calls, index) {
  const call = calls[index];
  const read = call.tokens.prompt_tokens ?? 0;
  const written = call.tokens.completion_tokens ?? 0;
  const words = (call.error ?? (call.text.trim() || call.tool_calls.map((made) => made.name).join(", "))).split("\n", 1)[0];
  const numbers = [`${counted(read, "token")} read`, `${written.toLocaleString("en")} written`, `${call.seconds.toFixed(2)} s`];
  const heading = [
    make("span", "role", call.role), " ", make("span", call.error ? "start error" : "start", words.slice(0, 100)),
    ...numbers.flatMap((number) => [" ", make("span", "number", number)]),
  ];
  const details = foldable("call", heading, false);
  details.addEventListener("toggle", () => details.append(...insideOfCall(calls, index)), { once: true });
  return details;
}

function insideOfCall(calls, index) {
  const call = calls[index];
  const settings = [
    `call ${index + 1} of ${calls.length}`, call.finish_reason && `finish reason ${call.finish_reason}`,
    `temperature ${call.temperature}`, `seed ${call.seed}`, call.max_tokens && `at most ${counted(call.max_tokens, "token")}`,
    call.stop.length && `stop ${call.stop.map((text) => JSON.stringify(text)).join(" ")}`, call.cost && `cost ${call.cost}`,
  ];
  const made = call.tool_calls.map(({ name, arguments: given }) => make("pre", "reply", `${name} ${given}`));
  const offered = make("pre", "", JSON.stringify(call.tools, null, 1));
  return [
    make("p", "quiet", settings.filter(Boolean).join("; ")),
    make("p", "key-word", "Prompt"), ...shownPrompt(calls, index),
    ...(call.tools.length ? [foldable("long", [`${counted(call.tools.length, "tool")} offered`], false, offered)] : []),
    ...(call.reasoning ? [foldable("long", ["Reasoning"], false, make("pre", "", call.reasoning))] : []),
    make("p", "key-word", "Reply"),
    ...(call.error ? [make("pre", "error", call.error)] : [make("pre", "reply", call.text), ...made]),
  ];
}

// What a prompt shares with an earlier one is folded: of a long dialogue the end is what is new.
function shownPrompt(calls, index) {
  const { prompt } = calls[index];
  if (typeof prompt === "string" || Array.isArray(prompt)) return written(prompt);
  const shared = begun(promptOf(calls, prompt.call), prompt.keep);
  const unit = Array.isArray(shared) ? "message" : "character";
  const heading = [`… ${counted(prompt.keep, unit)}, as in call ${prompt.call + 1}`];
  return [foldable("long", heading, false, ...written(shared)), ...written(prompt.add)];
}

function promptOf(calls, index) {
  const { prompt } = calls[index];
  if (typeof prompt === "string" || Array.isArray(prompt)) return prompt;
  const kept = begun(promptOf(calls, prompt.call), prompt.keep);
  return Array.isArray(kept) ? [...kept, ...prompt.add] : kept + prompt.add;
}

// Characters are counted as in Python, where none is two.
const begun = (prompt, keep) => Array.isArray(prompt) ? prompt.slice(0, keep) : [...prompt].slice(0, keep).join("");

function written(prompt) {
  if (typeof prompt === "string") return [make("pre", "read", prompt)];
  return prompt.map((message) => {
    const { role, content, ...others } = message;
    const more = Object.keys(others).length ? [make("pre", "", JSON.stringify(others))] : [];
    return make("div", "message-of", make("span", "role", role), make("pre", "read", content), ...more);
  });
}

function observationOf(text) {
  const lines = text.split("\n");
  const whole = make("pre", "observation", text);
  if (lines.length <= 8 && text.length <= 800) return whole;
  const about = lines.length > 1 ? counted(lines.length, "line") : counted(text.length, "character");
  return foldable("long", [make("span", "start", lines[0].slice(0, 100)), ` … ${about}`], false, whole);
}

// As an image: no script of a picture runs, and none of its markup becomes the page's.
function pictureOf(svg) {
  const image = make("img", "picture");
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  image.alt = "The last state of the episode";
  return image;
}

function treeWithButtons(record) {
  const tree = treeOf(record.trace, record, true);
  const all = ["details.node", "details.call"];
  const choices = [["Open all", all, true], ["Close all", all, false]];
  if (record.calls.length) choices.unshift(["Open parts", all.slice(0, 1), true]);
  const buttons = choices.map(([words, folds, open]) => {
    const button = make("button", "", words);
    button.type = "button";
    button.addEventListener("click", () => {
      for (const fold of tree.querySelectorAll(folds)) fold.open = open;
      tree.open = true;
    });
    return button;
  });
  return [make("p", "buttons", ...buttons), tree];
}

function insideOf(record) {
  const inside = treeWithButtons(record);
  if (record.traceback) inside.unshift(foldable("long", ["Traceback"], false, make("pre", "", record.traceback)));
  if (record.picture) inside.push(pictureOf(record.picture));
  return [make("p", "quiet", record.facts), ...inside];
}

// The episodes: a short line for each in an index, and what is inside of them in compressed blocks of many. The page of
// runs that go on asks its server for both.
const index = JSON.parse(document.querySelector("#index").textContent);
const blocks = document.querySelector("#blocks").textContent.trim().split("\n");
const isLive = index.live !== null;

function lineOf(cells, place) {
  const line = Object.fromEntries(index.columns.map((column, at) => [column, cells[at]]));
  const run = index.runs[line.run];
  return { ...line, run, at: line.run, place, name: `${run}/${line.task}` };
}

const placesOf = index.runs.map(() => 0);
let lines = index.lines.map((cells, number) => ({ ...lineOf(cells, placesOf[cells[0]]++), number }));

async function ask(file, question) {
  const answer = await fetch(`${file}?${new URLSearchParams(question)}`);
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error);
  return value;
}

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(unpacked).text();
}

// Calls beside a page are scripts that hand over a text: from a disk a page can load nothing else.
const awaited = new Map();
globalThis.calls = (name, text) => awaited.get(name)?.(text);

async function callsBeside(line) {
  const name = `${index.calls[line.at]}/${line.place}`;
  const script = make("script", "");
  const text = await new Promise((resolve, reject) => {
    awaited.set(name, resolve);
    script.addEventListener("error", () => reject(new Error(`there is no ${name}.js`)));
    script.src = `${name}.js`;
    document.head.append(script);
  });
  script.remove();
  return JSON.parse(await unpacked(text));
}

async function recordOf(line) {
  if (isLive) return ask("episode.json", { run: line.run, place: line.place });
  const block = index.starts.findLastIndex((start) => start <= line.number);
  const records = (await unpacked(blocks[block])).split("\n");
  const record = JSON.parse(records[line.number - index.starts[block]]);
  if (index.calls[line.at] && Number(line.calls)) record.calls = await callsBeside(line);
  return record;
}

async function fill(inside, line) {
  const link = make("a", "link", "Link to this episode");
  link.href = `#episodes?${new URLSearchParams({ episode: line.name })}`;
  try {
    inside.replaceChildren(link, ...insideOf(await recordOf(line)));
  } catch (error) {
    inside.replaceChildren(make("p", "error", `This episode cannot be shown: ${error}`));
  }
}

const NUMBERS = ["steps", "optimal", "calls", "k_max", "seconds"];
const CELLS = ["claimed_success", "group", ...NUMBERS, "stop_reason"];
const LABELS = { claimed_success: "agent says", optimal: "shortest", k_max: "depth used", stop_reason: "stop reason" };

// A name can be broken after each underscore.
function breakable(text) {
  const [first, ...others] = text.split("_");
  return [first, ...others.flatMap((part) => ["_", document.createElement("wbr"), part])];
}

function cellOf(line, column) {
  const isMistaken = column === "claimed_success" && line[column].endsWith("(wrong)");
  const mark = NUMBERS.includes(column) ? "number" : isMistaken ? "mistaken" : "";
  return make("span", mark, make("span", "key", `${LABELS[column] ?? column} `), ...breakable(line[column]));
}

function rowOf(line) {
  const run = make("span", "whose", make("span", "run", ...breakable(line.run)));
  const heading = [
    make("span", "task", ...breakable(line.task)), run, make("span", `outcome ${line.outcome}`, index.outcomes[line.outcome]),
    ...CELLS.map((column) => cellOf(line, column)),
  ];
  if (line.error) heading.push(make("span", "message error", line.error));
  const inside = make("div", "inside");
  const row = foldable("episode", heading, false, inside);
  row.dataset.task = line.task;
  row.dataset.run = line.run;
  row.addEventListener("toggle", () => fill(inside, line), { once: true });
  row.addEventListener("toggle", () => {
    if (row.open) chosen.episode = line.name;
    else if (chosen.episode === line.name) chosen.episode = "";
    writeAddress();
  });
  return row;
}

// What is chosen is in the address of the page, which can be kept and sent: report.html#episodes?outcome=lost&task=oak
const ROWS = 100;
const NOTHING = { run: "", outcome: "", group: "", task: "", page: "", episode: "" };
const FILTERS = ["run", "outcome", "group"];
const chosen = { ...NOTHING };
const list = document.querySelector("#list");
const search = document.querySelector("#task");
const drawn = new Map();

function fits(line) {
  return FILTERS.every((filter) => !chosen[filter] || line[filter] === chosen[filter])
    && line.task.toLowerCase().includes(chosen.task.trim().toLowerCase());
}

function writeAddress() {
  // An episode tells its page.
  const filled = Object.entries(chosen).filter(([key, value]) => value && !(key === "page" && chosen.episode));
  history.replaceState(null, "", filled.length ? `#episodes?${new URLSearchParams(filled)}` : "#episodes");
}

function drawnRow(line) {
  if (drawn.get(line.name)?.line !== line) drawn.set(line.name, { line, row: rowOf(line) });
  return drawn.get(line.name).row;
}

// Rows that stay are not moved, and so keep their focus and what is open in them.
function draw(rows) {
  const kept = new Set(rows);
  for (const row of [...list.children]) if (!kept.has(row)) row.remove();
  rows.forEach((row, at) => {
    if (list.children[at] !== row) list.insertBefore(row, list.children[at] ?? null);
  });
}

function show() {
  const shown = lines.filter(fits);
  const pages = Math.max(1, Math.ceil(shown.length / ROWS));
  const page = Math.min(pages, Math.max(1, Number.parseInt(chosen.page, 10) || 1));
  chosen.page = page > 1 ? String(page) : "";
  draw(shown.slice((page - 1) * ROWS, page * ROWS).map(drawnRow));
  document.querySelector("#shown").textContent =
    `${shown.length.toLocaleString("en")} of ${counted(lines.length, "episode")}`;
  for (const pager of document.querySelectorAll(".pager")) {
    pager.hidden = pages === 1;
    pager.querySelector("span").textContent = `page ${page} of ${pages}`;
    for (const button of pager.querySelectorAll("button")) {
      button.disabled = page + Number(button.value) < 1 || page + Number(button.value) > pages;
    }
  }
  for (const button of document.querySelectorAll("fieldset[data-filter] button")) {
    button.setAttribute("aria-pressed", String(chosen[button.parentElement.dataset.filter] === button.value));
  }
  if (search.value.trim() !== chosen.task.trim()) search.value = chosen.task;
}

function choose(change) {
  Object.assign(chosen, { page: "", episode: "" }, change);
  drawn.clear();
  show();
  writeAddress();
}

function openEpisode(name) {
  const line = lines.find((line) => line.name === name);
  if (line && !fits(line)) Object.assign(chosen, NOTHING);
  if (line) chosen.page = String(Math.floor(lines.filter(fits).indexOf(line) / ROWS) + 1);
  chosen.episode = line ? name : "";
  drawn.clear();
  show();
  if (!line) {
    document.querySelector("#shown").textContent += `; there is no episode ${name}`;
    return;
  }
  const row = [...list.children].find((row) => row.dataset.task === line.task && row.dataset.run === line.run);
  row.open = true;
  row.querySelector("summary").focus({ preventScroll: true });
  row.scrollIntoView();
}

function readAddress() {
  if (!location.hash.startsWith("#episodes?")) return;
  const given = Object.fromEntries(new URLSearchParams(location.hash.slice("#episodes?".length)));
  for (const key in NOTHING) chosen[key] = given[key] ?? "";
  if (chosen.episode) {
    openEpisode(chosen.episode);
  } else {
    drawn.clear();
    show();
    document.querySelector("#episodes").scrollIntoView();
  }
}

document.querySelector(".filters").addEventListener("click", ({ target }) => {
  const button = target.closest("fieldset[data-filter] button");
  if (button) choose({ [button.parentElement.dataset.filter]: button.value });
});
search.addEventListener("input", () => choose({ task: search.value }));
for (const button of document.querySelectorAll(".pager button")) {
  button.addEventListener("click", () => {
    choose({ page: String((Number(chosen.page) || 1) + Number(button.value)) });
    document.querySelector("#episodes .filters").scrollIntoView();
  });
}

// Runs that go on: what is new is asked for every two seconds, or less often where an answer takes long.
const WAIT = 2000;
const held = new Map();
let state = "";
let isRead = false;

function take(changed) {
  for (const [place, ...cells] of changed) {
    const line = lineOf(cells, place);
    held.set(`${line.at}:${place}`, line);
  }
  lines = [...held.values()].sort((one, other) => one.at - other.at || one.place - other.place);
}

// A part of the page gives way to what the server now makes of it. Its folds stay as they are.
function replace(old, fresh) {
  const opened = new Set([...old.querySelectorAll("details[open] > summary")].map((summary) => summary.textContent));
  for (const summary of fresh.querySelectorAll("summary")) summary.parentElement.open = opened.has(summary.textContent);
  if (!old.isEqualNode(fresh)) old.replaceWith(fresh);
}

async function renew() {
  const answer = await fetch(location.pathname + location.search);
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of ["h1", ".lead", "nav"]) replace(document.querySelector(part), fresh.querySelector(part));
  let last = null;
  for (const section of fresh.querySelectorAll("section:not(#episodes)")) {
    const old = document.getElementById(section.id);
    if (old) replace(old, section);
    else last.after(section);
    last = document.getElementById(section.id);
  }
  const filters = document.querySelector(".filters");
  const [filter, value] = [document.activeElement.parentElement?.dataset.filter, document.activeElement.value];
  for (const old of filters.querySelectorAll("fieldset")) old.remove();
  filters.prepend(...fresh.querySelectorAll(".filters fieldset"));
  if (filter) [...filters.querySelectorAll(`[data-filter=${filter}] button`)].find((button) => button.value === value)?.focus();
}

async function follow() {
  const began = performance.now();
  let more = false;
  const word = document.querySelector("#live");
  try {
    const news = await ask("lines.json", [...new URLSearchParams(location.search), ["since", state]]);
    if (news.reset) {
      location.reload();
      return;
    }
    more = news.more;
    if (news.state !== state) {
      state = news.state;
      take(news.lines);
      if (!more && state !== index.live) await renew();
      show();
    }
    if (!more && !isRead) {
      isRead = true;
      readAddress();
    }
    word.textContent = `live, as of ${new Date().toLocaleTimeString()}`;
    word.className = "quiet";
  } catch (error) {
    word.textContent = `not live: ${error.message}`;
    word.className = "error";
  }
  setTimeout(follow, more ? 0 : Math.max(WAIT, 10 * (performance.now() - began)));
}

window.addEventListener("hashchange", readAddress);
if (isLive) {
  follow();
} else {
  show();
  readAddress();
}
performance.mark("ready");
