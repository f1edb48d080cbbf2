// The heads that are looked at, as one matrix with its labels.
import { axes, grouped, headMatrix, merged } from "./attention.js";
import { askedLens } from "./view_state.js";

/** @typedef {import("./attention.js").Matrix} Matrix */
/** @typedef {import("./attention.js").Axis} Axis */
/** @typedef {{matrix: Matrix, rows: Axis, columns: Axis}} Selection */

/**
 * Asks for the layers of the heads that are looked at, and joins them.
 * @param {import("./study.js").Study} study @param {import("./view_state.js").Look} look
 * @returns {Promise<Selection>}
 */
export async function selection(study, look) {
  const translation = /** @type {import("./protocol.js").Translation} */ (study.translation);
  const lens = askedLens(look.lens);
  const matrices = await Promise.all(
    look.heads.map(async ([layer, head]) => headMatrix(await study.attention(look.kind, layer, lens), head)),
  );
  const { rows, columns } = axes(look.kind, translation, look.words);
  return { matrix: grouped(merged(matrices, look.merge), rows.groups, columns.groups), rows, columns };
}
