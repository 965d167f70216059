/** The kind of a batch by the kind of its recorded step. */
const BY_STEP = { model: 'model', claim: 'intent', tool: 'result', suspend: 'question', answer: 'answer' };

/** The kinds of a journal batch, derived from its statements; every batch of a run is also a `commit`. */
export function placesOf(batch) {
  const places = new Set(batch.map(placeOf).filter((place) => place !== undefined));
  return places.size === 0 ? [] : [...places, 'commit'];
}

function placeOf({ sql, params }) {
  if (sql.startsWith('INSERT INTO run_step ')) return BY_STEP[String(params[1]).split(':')[0]];
  if (sql.startsWith('INSERT INTO run (')) return 'start';
  if (sql.includes('epoch = epoch + 1')) return 'take';
  if (sql.includes('session_slot = NULL')) return 'end';
  if (/SET status = \?, attempts = 0/.test(sql)) return params[0] === 'waiting' ? 'waiting' : 'handover';
  return undefined;
}
