// Asking the service: the key, if one is needed, goes along.

export function headers(more = {}) {
  const key = sessionStorage.getItem("key");
  return key ? { ...more, authorization: `Bearer ${key}` } : more;
}

/** The answer to a JSON request; an error has the status and the service's reason. */
export async function ask(path, body, signal) {
  const answer = await fetch(path, {
    method: body ? "POST" : "GET",
    body: body && JSON.stringify(body),
    headers: headers({ "content-type": "application/json" }),
    signal,
  });
  if (!answer.ok) throw await failure(answer);
  return answer.json();
}

/** What went wrong, as an error. */
export async function failure(answer) {
  const found = await answer.json().catch(() => ({}));
  return Object.assign(new Error(found.error ?? found.message ?? answer.statusText), { status: answer.status });
}
