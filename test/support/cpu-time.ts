/** The CPU time that a synchronous piece of work takes, in ms. Other processes do not change it, as they do the clock. */
export function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
