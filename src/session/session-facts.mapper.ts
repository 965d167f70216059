import { type DataFact, isPrivate, isTainted } from '../run/facts/index.js';
import type { SessionRecord } from './session.types.js';

/** Facts of a session's turns: the marks decide, and name their sources as far as these are known. */
export function factsOfSession({
  dataFacts,
  taintedTurn,
  privateTurn,
}: Pick<SessionRecord, 'dataFacts' | 'taintedTurn' | 'privateTurn'>): readonly DataFact[] {
  const has: Readonly<Record<DataFact['fact'], boolean>> = {
    untrusted: taintedTurn !== null,
    private: privateTurn !== null,
  };
  const known = dataFacts.filter(({ fact }) => has[fact]);
  return [
    ...known,
    ...(has.untrusted && !isTainted(known) ? [{ fact: 'untrusted', step: 'history' } as const] : []),
    ...(has.private && !isPrivate(known) ? [{ fact: 'private', step: 'history' } as const] : []),
  ];
}
