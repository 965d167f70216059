import { onEndSignal } from '../end-signal.js';
import { StartFailure, Supervisor } from './supervisor.js';
import { SupervisorLog, type SupervisorLogger } from './supervisor-log.js';

/** Not reserved by Node, unlike SIGUSR1. */
const RESTART_SIGNAL = 'SIGUSR2';

export interface SupervisedServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves with workers of this program that share its port, until `close` or a signal. SIGUSR2 replaces them one by one. If they cannot
 * start, ends the process with the exit code of the worker, which has printed the cause.
 */
export async function supervise(count: number, logger?: SupervisorLogger): Promise<SupervisedServer> {
  const supervisor = new Supervisor(count, new SupervisorLog(logger));
  const kill = () => supervisor.kill();
  const restart = () => void supervisor.restart();
  process.on('exit', kill);
  process.on(RESTART_SIGNAL, restart);
  const release = onEndSignal(() => void supervisor.stop().then((isClean) => process.exit(isClean ? 0 : 1)));
  try {
    const url = await supervisor.start();
    const close = async () => {
      await supervisor.stop();
      release();
      process.off(RESTART_SIGNAL, restart);
      process.off('exit', kill);
      kill();
    };
    return { url, close };
  } catch (error) {
    await supervisor.stop();
    if (!(error instanceof StartFailure)) process.stderr.write(`${(error as Error).message}\n`);
    process.exit(error instanceof StartFailure ? error.code : 1);
  }
}
