/** Maximum bytes (UTF-8) of a state as JSON; the same limit as for a call's result, with which it is journaled. */
export const MOST_STATE_BYTES = 4 * 1024 * 1024;
