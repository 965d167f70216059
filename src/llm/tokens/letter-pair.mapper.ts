/**
 * Which letters follow which in written language: the pairs that vocabularies have long tokens of. Words are made of
 * them; identifiers less so; keys, hashes and base64 hardly, and those take a token for two letters. Counted over the
 * READMEs of 300 npm packages: the 110 most frequent of the 676 pairs make 76 % of their words, the first 250 97 %. Each
 * letter, then those that follow it.
 */
const FREQUENT =
  'a:cdlmnrst b:e c:aehort d:dei e:acdflmnrstx f:aio g:e h:aei i:cdfglmnoprst j:s l:aeilo ' +
  'm:aeip n:cdegost o:dflmnpru p:aelort q:u r:aeiost s:ceiost t:aehiorsy u:eilnrst v:ae w:i';
const USUAL =
  'a:bgipuvwy b:aijlorsuy c:iklu d:alorstu e:egpqvwy f:efruy g:hilnrsu h:or i:abevz j:ae k:aeis l:dstuvy ' +
  'm:bgmosu n:afiklpquv o:bcgikostvw p:impsu r:cdfgkmnruvy s:ahpruy t:cdlptu u:abcgmp v:i w:aehos x:aept y:nops z:e';

// What is neither is rare: 0.
export const USUAL_PAIR = 1;
export const FREQUENT_PAIR = 2;

const LETTERS = 32;
const pairs = new Uint8Array(LETTERS * LETTERS);
mark(USUAL, USUAL_PAIR);
mark(FREQUENT, FREQUENT_PAIR);

/** How common the second letter is after the first, in either case: codes of A-Z and a-z. */
export function pairOf(first: number, second: number): number {
  return pairs[(first & 0x1f) * LETTERS + (second & 0x1f)]!;
}

function mark(followers: string, value: number): void {
  for (const entry of followers.split(' ')) {
    const first = entry.charCodeAt(0) & 0x1f;
    for (let i = entry.indexOf(':') + 1; i < entry.length; i++) {
      pairs[first * LETTERS + (entry.charCodeAt(i) & 0x1f)] = value;
    }
  }
}
