import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import type { JsonValue } from '../../kernel/json/index.js';
import type { Decision, WaitingRequest } from '../../run/decision/index.js';
import type { Work } from '../definition/node.schema.js';
import { compileTemplate, fillText } from '../template/template.parser.js';
import { failedNode } from './node-outcome.factory.js';
import type { NodeOutcome, NodeTask, WorkExecutor } from './node-task.types.js';

/** Tool name of human nodes in requests. */
export const HUMAN = 'human';

/** Asks a person: the run waits, without a process, until an answer or the expiry. */
@Injectable()
export class HumanNodeExecutor implements WorkExecutor<Work<'human'>> {
  async execute(work: Work<'human'>, { run, number, path, scope }: NodeTask): Promise<NodeOutcome> {
    const id = `${work.asks}:${number}/${path}`;
    const decision = run.answer(id);
    if (decision) return decided(work, decision);
    // The recorded request does not change in later executions: same texts, same expiry.
    const request = await run.value(`asked:${number}/${path}`, (): WaitingRequest => {
      const question = fillText(compileTemplate(work.question), scope);
      const shown = work.show === undefined ? {} : compileTemplate(work.show).fill(scope);
      return {
        id,
        kind: work.asks,
        step: `node:${path}`,
        call_id: path,
        tool: HUMAN,
        arguments: JSON.stringify(shown),
        ...(work.asks === 'input' ? { question } : { reason: question }),
        ...(work.schema && { schema: work.schema }),
        expires_at: work.expiresMs === null ? null : Date.now() + work.expiresMs,
      };
    });
    return { status: 'waiting', requests: [request] };
  }
}

function decided({ onDenied }: Work<'human'>, decision: Decision): NodeOutcome {
  const { by, at } = decision;
  switch (decision.kind) {
    case 'approve':
      return done({ approved: true, by, at });
    case 'input':
      return done({ value: decision.value, by, at });
    case 'deny': {
      const reason = decision.reason ?? null;
      if (onDenied === 'continue') return done({ approved: false, reason, by, at });
      return failedNode(
        'TOOL_DENIED',
        `Denied by ${by ?? 'an unknown person'}${reason === null ? '.' : `: ${reason}`}`,
      );
    }
    case 'expire':
      return failedNode('TOOL_EXPIRED', 'The request expired without an answer.');
    case 'settle':
    case 'join':
    case 'release':
      throw new AppError('INTERNAL', `A question to a person is not answered by "${decision.kind}".`);
  }
}

function done(output: JsonValue): NodeOutcome {
  return { status: 'completed', output };
}
