import type { DefinedNode } from '../definition/node.schema.js';
import { compileCondition } from '../template/condition.policy.js';
import type { Scope } from '../template/template.parser.js';
import type { NodeDone } from './node-task.types.js';

/** Selects the first case whose conditions all hold, else `otherwise`; no node if that is not set. */
export function chooseBranch({ cases, otherwise }: DefinedNode<'branch'>, scope: Scope): NodeDone {
  const chosen = cases.findIndex(({ when }) =>
    [when].flat().every((condition) => compileCondition(condition).holds(scope)),
  );
  const to = cases[chosen]?.to ?? otherwise;
  return {
    status: 'completed',
    output: { to: to ?? null, case: chosen < 0 ? null : chosen },
    next: to === undefined ? [] : [to],
  };
}
