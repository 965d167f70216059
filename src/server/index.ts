/** The HTTP server. `serve` loads the rest of this folder on its first call. */
export { serve } from './serve.js';
export type { Server } from './serve.js';
