import { vi } from 'vitest';
import { restoreProcess } from './process-defaults.js';

// The files of a worker share its process: each starts with the environment, working directory, clock and log of a new one.
vi.useRealTimers();
restoreProcess();
