// Writes equal values in the same way: keys in order, no spaces, no escapes that are not needed.
// Python writes the same with json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).

/**
 * @param {unknown} value  of JSON's kinds; undefined members are left out
 * @returns {string}
 */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(",")}}`;
}

/**
 * The key of a question's answer in a saved page. It leaves out the numbers of the request and of the
 * pane, because the answer does not depend on them.
 * @param {string} kind
 * @param {Record<string, unknown>} payload
 */
export function question(kind, payload) {
  return canonical({ kind, payload: { ...payload, request: undefined, pane: undefined } });
}
