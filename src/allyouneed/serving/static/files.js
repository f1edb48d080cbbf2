// Files: each is sent, translated by the service as a job of its own, and offered for download.
import { reasonOf } from "./reasons.js";
import { ask, failure, headers } from "./service.js";
import { words } from "./words.js";

const POLL = 500; // milliseconds between two questions how far a file is
const KEPT = 10; // files on the page
const list = document.getElementById("jobs");

/** Translates a file; `from` is "auto" or a language. What happens is shown in the list of files. */
export async function translateFile(file, from, to) {
  const row = newRow(file.name);
  try {
    const body = new FormData();
    body.append("target_lang", to);
    if (from !== "auto") body.append("source_lang", from);
    body.append("file", file);
    const { document_id: id, document_key: key } = await upload(body, row);
    await finished(id, key, row);
    const answer = await fetch(`v2/document/${id}/result`, {
      method: "POST",
      body: JSON.stringify({ document_key: key }),
      headers: headers({ "content-type": "application/json" }),
      signal: row.signal,
    });
    if (!answer.ok) throw await failure(answer);
    row.offer(await answer.blob(), renamed(file.name, to));
  } catch (error) {
    if (error.name !== "AbortError") row.fail(reasonOf(error));
  }
}

/** Sends the form; only this way of asking tells how much has been sent. */
function upload(body, row) {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open("POST", "v2/document");
    for (const [name, value] of Object.entries(headers())) request.setRequestHeader(name, value);
    request.responseType = "json";
    request.upload.onprogress = (event) => row.tell(words.sending, event.loaded / event.total / 10);
    request.onload = () => {
      if (request.status < 300) done(request.response);
      else fail(Object.assign(new Error(request.response?.message ?? ""), { status: request.status }));
    };
    request.onerror = () => fail(new Error());
    row.signal.addEventListener("abort", () => request.abort());
    request.onabort = () => fail(new DOMException("", "AbortError"));
    request.send(body);
  });
}

async function finished(id, key, row) {
  for (;;) {
    const found = await ask(`v2/document/${id}`, { document_key: key }, row.signal);
    if (found.status === "done") return;
    if (found.status === "error") throw Object.assign(new Error(found.error_message), { status: 400 });
    row.tell(words.working, 0.1 + 0.9 * (found.progress ?? 0));
    await new Promise((next) => setTimeout(next, POLL));
    row.signal.throwIfAborted();
  }
}

/** A file's row: its name, how far it is, and a button that takes it away. */
function newRow(name) {
  const [item, label, bar, state, away] = ["li", "span", "progress", "span", "button"].map((kind) => document.createElement(kind));
  const leaving = new AbortController();
  let address = null;
  label.textContent = name;
  label.className = "name";
  bar.setAttribute("aria-label", name);
  bar.max = 1;
  state.setAttribute("role", "status");
  away.type = "button";
  away.className = "quiet";
  away.textContent = words.remove;
  away.setAttribute("aria-label", `${words.remove}: ${name}`);
  away.onclick = () => {
    leaving.abort();
    if (address) URL.revokeObjectURL(address);
    item.remove();
    list.hidden = !list.children.length;
  };
  item.append(label, bar, state, away);
  list.prepend(item);
  list.hidden = false;
  while (list.children.length > KEPT) list.lastChild.querySelector("button").click();
  return {
    signal: leaving.signal,
    tell(message, share) {
      state.textContent = message;
      bar.value = share;
    },
    fail(message) {
      bar.remove();
      state.textContent = message;
      state.className = "wrong";
    },
    offer(blob, called) {
      bar.remove();
      address = URL.createObjectURL(blob);
      const link = document.createElement("a");
      [link.href, link.download, link.textContent] = [address, called, words.save(called)];
      state.replaceChildren(link);
    },
  };
}

function renamed(name, to) {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? `${name.slice(0, dot)}.${to}${name.slice(dot)}` : `${name}.${to}`;
}
