/** Priorities are 0 to this; of queued runs the higher goes first. */
export const MAX_PRIORITY = 9;
