import { Injectable } from '@nestjs/common';
import { refusalOf } from '../../persistence/index.js';
import { isPatient } from '../context/execution-end.js';
import { RunBus } from '../follow/run-bus.js';
import { RunDispatcher } from '../run-dispatcher.js';
import { RunHandlerRegistry } from '../run-handler.registry.js';
import { RunJournal } from '../run-journal.js';
import type { RunRecord, StartRun } from '../run.types.js';
import type { ChildCall, RunLineage } from './child-run.types.js';

/** Starts child runs at once, within the capacity of the parent. */
@Injectable()
export class ChildStartService {
  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
    private readonly dispatcher: RunDispatcher,
    private readonly handlers: RunHandlerRegistry,
  ) {}

  /**
   * Starts a child run. If another run holds the shared session, or another principal owns it, the child gets a new one.
   * @throws AppError when the run cannot be created
   */
  async start(parent: RunRecord, call: ChildCall): Promise<void> {
    const request = await call.request();
    const maker = this.handlers.childMaker(request.kind);
    const lineage = lineageOf(parent, call);
    for (const isSeparate of request.isSeparate ? [true] : [false, true]) {
      const start = await maker.create(parent, request, { id: call.id, isSeparate });
      if (await this.execute({ ...start, ...inheritance(parent), lineage })) return;
    }
  }

  /** @returns false if the run cannot have its session */
  private async execute(start: StartRun): Promise<boolean> {
    try {
      const { run, items } = await this.journal.create(start, 'running', Date.now());
      for (const item of items) this.bus.emit(run, item);
      this.dispatcher.executeChild(run);
      return true;
    } catch (error) {
      if (!refusalOf(error)) throw error;
      return (await this.journal.find(start.id)) !== null;
    }
  }
}

function lineageOf({ id, sessionId, lineage }: RunRecord, { step }: ChildCall): RunLineage {
  return {
    parentRunId: id,
    parentStep: step,
    rootRunId: lineage?.rootRunId ?? id,
    rootSessionId: lineage ? lineage.rootSessionId : sessionId,
    depth: (lineage?.depth ?? 0) + 1,
  };
}

/** The properties a child inherits: principal, trace, priority, deadline, and whether an outage of its provider postpones it. */
function inheritance(
  parent: RunRecord,
): Pick<StartRun, 'principal' | 'priority' | 'deadlineAt' | 'isPatient' | 'traceparent'> {
  const { principal, priority, deadlineAt, traceparent } = parent;
  return { principal, priority, traceparent, isPatient: isPatient(parent), ...(deadlineAt !== null && { deadlineAt }) };
}
