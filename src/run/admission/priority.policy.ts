/** The highest priority; of queued runs the higher starts first. */
export const MAX_PRIORITY = 9;
