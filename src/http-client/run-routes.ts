import type {
  ApproveRequest,
  BackgroundRequest,
  DenyRequest,
  Feedback,
  FeedbackRequest,
  ForkRequest,
  InputRequest,
  Operations,
  RunAnswer,
  RunExport,
  RunJournal,
  RunPage,
  SettleRequest,
} from './generated/operations.js';
import type { CreateOptions, HttpTransport, RequestOptions } from './http-transport.js';
import { RunStream, type FollowOptions } from './run-stream.js';

/** Runs and decisions on them. */
export class RunRoutes {
  constructor(private readonly transport: HttpTransport) {}

  /** Starts a run of an agent in the background, without waiting for its end. */
  start(request: BackgroundRequest, options?: CreateOptions): Promise<RunAnswer> {
    return this.transport.call('startRun', { body: request }, options);
  }

  /** A page of runs, newest first. */
  list(query?: Operations['listRuns']['query'], options?: RequestOptions): Promise<RunPage> {
    return this.transport.call('listRuns', { ...(query && { query }) }, options);
  }

  /** The outcome of a run so far. A failed run is an answer with `error`, not an error. */
  get(id: string, options?: RequestOptions): Promise<RunAnswer> {
    return this.transport.call('getRun', { path: { id } }, options);
  }

  /** The events of a run from its start or from a position: recorded ones, then live ones. */
  follow(id: string, { after, ...options }: FollowOptions = {}): RunStream {
    return new RunStream(this.transport, { runId: id, ...(after !== undefined && { after }) }, options);
  }

  /** Requests a cancel. @throws JackdawError `RUN_NOT_CANCELLABLE` if the run has ended */
  cancel(id: string, options?: RequestOptions): Promise<RunAnswer> {
    return this.transport.call('cancelRun', { path: { id } }, options);
  }

  /** A page of the steps and events of a run. */
  journal(id: string, query?: Operations['getRunJournal']['query'], options?: RequestOptions): Promise<RunJournal> {
    return this.transport.call('getRunJournal', { path: { id }, ...(query && { query }) }, options);
  }

  /** The run with its journal and everything that `jackdaw replay` needs. */
  export(id: string, options?: RequestOptions): Promise<RunExport> {
    return this.transport.call('exportRun', { path: { id } }, options);
  }

  /** Starts a new run from a step of this one. */
  fork(id: string, request: ForkRequest, options?: CreateOptions): Promise<RunAnswer> {
    return this.transport.call('forkRun', { path: { id }, body: request }, options);
  }

  /** Approves calls; without `callId`, all that wait for approval. */
  approve(id: string, request?: ApproveRequest, options?: RequestOptions): Promise<RunAnswer> {
    return this.transport.call('approveRun', { path: { id }, ...(request && { body: request }) }, options);
  }

  /** Denies calls or questions; without `callId`, all that wait. */
  deny(id: string, request?: DenyRequest, options?: RequestOptions): Promise<RunAnswer> {
    return this.transport.call('denyRun', { path: { id }, ...(request && { body: request }) }, options);
  }

  /** Answers a tool's question. */
  input(id: string, request: InputRequest, options?: RequestOptions): Promise<RunAnswer> {
    return this.transport.call('answerRun', { path: { id }, body: request }, options);
  }

  /** Reports the outcome of a call that a stop of the server interrupted. */
  settle(id: string, request: SettleRequest, options?: RequestOptions): Promise<RunAnswer> {
    return this.transport.call('settleRun', { path: { id }, body: request }, options);
  }

  /** Gives feedback on an ended run, and replaces earlier feedback of the caller. */
  feedback(id: string, feedback: FeedbackRequest, options?: RequestOptions): Promise<Feedback> {
    return this.transport.call('giveFeedback', { path: { id }, body: feedback }, options);
  }

  /** Lets a run continue that waits because its database was restored or copied. */
  release(id: string, options?: RequestOptions): Promise<RunAnswer> {
    return this.transport.call('releaseRun', { path: { id } }, options);
  }
}
