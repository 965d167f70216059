import type { RunRecord } from '../../run/index.js';
import type { AnsweredRequest, Verdict } from '../../run/decision/index.js';
import { admit, type ContentFilter, type ContentPlace } from '../../security/content/index.js';
import { agentRules, type SecurityPolicies } from '../../tool-policy/index.js';
import { parseStoredDefinition } from '../definition/agent-definition.schema.js';
import { AGENT_RUN } from '../sub-agent/sub-agent-tool.factory.js';

type Screened = Omit<AnsweredRequest, 'request'>;

/**
 * Applies the content filter to a person's verdict before it is stored: the input filter to answers and reasons, the
 * result filter to settlements. The call policies check edited arguments.
 * @throws AppError `INPUT_BLOCKED`
 */
export function screenVerdict(policies: SecurityPolicies, run: RunRecord, verdict: Verdict): Screened {
  const filter = (place: ContentPlace) => filterOf(policies, run, place);
  switch (verdict.kind) {
    case 'input': {
      const { value, masked } = admit(filter('input'), verdict.value, 'answer');
      return { verdict: { ...verdict, value }, ...maskedOf('input', masked) };
    }
    case 'deny': {
      if (verdict.reason === undefined) return { verdict };
      const { value, masked } = admit(filter('input'), verdict.reason, 'reason');
      return { verdict: { ...verdict, reason: value }, ...maskedOf('input', masked) };
    }
    case 'settle':
      return settled(filter('results'), verdict);
    case 'approve':
    case 'release':
    case 'expire':
    case 'join':
      return { verdict };
  }
}

function settled(filter: ContentFilter | null, verdict: Extract<Verdict, { kind: 'settle' }>): Screened {
  switch (verdict.outcome) {
    case 'retry':
      return { verdict };
    case 'succeeded': {
      const { value, masked } = admit(filter, verdict.result, 'result');
      return { verdict: { ...verdict, result: value }, ...maskedOf('result', masked) };
    }
    case 'failed': {
      const { value, masked } = admit(filter, verdict.error, 'error');
      return { verdict: { ...verdict, error: value }, ...maskedOf('result', masked) };
    }
  }
}

function maskedOf(on: 'input' | 'result', found: readonly string[] | undefined): Pick<Screened, 'masked'> {
  return found ? { masked: { on, found } } : {};
}

/** Only agent runs have rules of their own. */
function filterOf(policies: SecurityPolicies, { kind, definition }: RunRecord, place: ContentPlace) {
  return policies.filter(place, kind === AGENT_RUN ? agentRules(parseStoredDefinition(definition)) : undefined);
}
