/** Interval of a timer that only keeps the process alive; the longest that Node allows, in ms. */
const LONGEST_MS = 2 ** 31 - 1;

let count = 0;
let timer: NodeJS.Timeout | undefined;

/** Keeps the process alive until the work has ended. Idle connections, threads and timers of Jackdaw do not. */
export async function holdProcess<T>(work: Promise<T>): Promise<T> {
  const release = keepProcess();
  try {
    return await work;
  } finally {
    release();
  }
}

/** Keeps the process alive until the returned function is called. */
export function keepProcess(): () => void {
  if (count++ === 0) timer = setInterval(() => undefined, LONGEST_MS);
  let isReleased = false;
  return () => {
    if (isReleased) return;
    isReleased = true;
    if (--count === 0) clearInterval(timer);
  };
}
