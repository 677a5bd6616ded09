// What the page does better with a script; all of it works without.
"use strict";

// Progress: the page is asked for again, and only what changed is put in its place.
const every = Number(document.body.dataset.refresh);
async function follow() {
  let next;
  try {
    const answer = await fetch(location.href, { credentials: "same-origin" });
    if (answer.redirected) return location.replace(answer.url);
    next = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    return setTimeout(follow, 3000); // asleep, or closed: ask again
  }
  const stays = "stay" in document.body.dataset; // a form is being filled: only what is live changes
  if (!next.body.dataset.refresh && !stays) return location.reload();
  const [here, there] = [document, next].map((page) => page.querySelector("#live"));
  if (here && there && here.innerHTML !== there.innerHTML) here.innerHTML = there.innerHTML;
  if (stays) {
    document.querySelector("#k")?.dispatchEvent(new Event("input"));
    return next.body.dataset.refresh && setTimeout(follow, every * 1000);
  }
  const [title, heading] = [next.title, next.querySelector("h1").textContent];
  document.title = title;
  document.querySelector("h1").textContent = heading;
  setTimeout(follow, every * 1000);
}
if (every) setTimeout(follow, every * 500);

// A slider beside the number, and the row of its groups.
const k = document.querySelector("#k");
const slider = document.querySelector("#k-slider");
if (k && slider) {
  const chosen = () => {
    for (const row of document.querySelectorAll("[data-first]")) {
      const inside = Number(row.dataset.first) <= k.value && k.value <= Number(row.dataset.last);
      row.classList.toggle("chosen", inside);
    }
  };
  slider.hidden = false;
  slider.addEventListener("input", () => { k.value = slider.value; chosen(); });
  k.addEventListener("input", () => { slider.value = k.value; chosen(); });
}

// What the two answers set, as they are given.
const answers = ["recipient", "sensitivity"];
for (const input of document.querySelectorAll(answers.map((key) => `[name=${key}]`).join())) {
  input.addEventListener("change", () => {
    const given = answers.map((key) => document.querySelector(`[name=${key}]:checked`).value);
    for (const row of document.querySelectorAll("[data-recipient]")) {
      const own = answers.map((key) => row.dataset[key]);
      row.classList.toggle("chosen", own.join() === given.join());
    }
  });
}

// Copy a command line.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = button.dataset.done;
  });
}

// Say before it is sent that a file is too large, and that it is being sent.
const form = document.querySelector("[data-limit]");
if (form) {
  const input = form.querySelector("input[type=file]");
  const warning = form.querySelector("[data-too-large]");
  const button = form.querySelector("button");
  input.addEventListener("change", () => {
    const size = input.files.length ? input.files[0].size : 0;
    warning.hidden = size <= Number(form.dataset.limit);
    button.disabled = !warning.hidden;
  });
  form.addEventListener("submit", () => { button.textContent = form.dataset.busy; });
  // A file dropped anywhere on the field, not on its button alone.
  const field = form.querySelector(".drop");
  field.addEventListener("dragover", (event) => event.preventDefault());
  field.addEventListener("drop", (event) => {
    event.preventDefault();
    input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change"));
  });
}
