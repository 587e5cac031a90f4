"use strict";

const WAIT = 2000;
const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
let tag = null;

function ago(date) {
  const seconds = Math.max(0, Math.round((Date.now() - date) / 1000));
  const [unit, length] = UNITS.find(([, length]) => seconds >= length) ?? ["s", 1];
  return `${Math.floor(seconds / length)} ${unit} ago`;
}

function tellTimes() {
  for (const time of document.querySelectorAll("time")) {
    time.title = time.dateTime;
    time.textContent = ago(new Date(time.dateTime));
  }
}

// The server makes the table anew where a run has gained an episode; what is selected stays so.
async function renew() {
  const answer = await fetch(location.pathname);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
  const main = document.querySelector("main");
  const selected = new Set([...main.querySelectorAll("input:checked")].map((input) => input.value));
  for (const input of fresh.querySelectorAll("input")) input.checked = selected.has(input.value);
  const focused = document.activeElement.closest?.("tr, form");
  const isLink = document.activeElement.tagName === "A";
  main.replaceWith(fresh);
  if (focused?.dataset.run === undefined) return;
  const row = [...fresh.querySelectorAll("tr")].find((row) => row.dataset.run === focused.dataset.run);
  row?.querySelector(isLink ? "a" : "input")?.focus({ preventScroll: true });
}

async function follow() {
  const began = performance.now();
  const word = document.querySelector("#live");
  try {
    const answer = await fetch("runs.json");
    if (!answer.ok) throw new Error((await answer.json()).error);
    if (tag !== null && answer.headers.get("ETag") !== tag) await renew();
    tag = answer.headers.get("ETag");
    word.textContent = `live, as of ${new Date().toLocaleTimeString()}`;
    word.className = "quiet";
  } catch (error) {
    word.textContent = `not live: ${error.message}`;
    word.className = "error";
  }
  tellTimes();
  setTimeout(follow, Math.max(WAIT, 10 * (performance.now() - began)));
}

if (document.querySelector("main[data-live]")) follow();
