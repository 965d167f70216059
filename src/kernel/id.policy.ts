/** The rule of `isId`, for error messages. */
export const ID_RULE = '1 to 128 letters, digits and _ - . : @ in Unicode form NFC, and not "." or ".."';

/**
 * Letters with their marks, and decimal digits, of any script. Ignorable characters (fillers, joiners, variation
 * selectors) are refused, since two ids that differ in them look equal.
 */
const ID = /^(?!\.{1,2}$)(?!.*\p{Default_Ignorable_Code_Point})[\p{L}\p{Nd}_.:@-][\p{L}\p{M}\p{Nd}_.:@-]{0,127}$/u;

/**
 * Whether a text is a valid id of a session or name of an agent. Another Unicode form than NFC is refused, not
 * converted: a client then always receives the id that it sent, and stores compare bytes.
 */
export function isId(text: unknown): text is string {
  return typeof text === 'string' && ID.test(text) && text === text.normalize('NFC');
}
