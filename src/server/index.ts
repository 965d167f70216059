/** The HTTP server. `serve` loads the rest of this folder on its first call. */
export { openLocalServer } from './local-server.js';
export type { LocalServer } from './local-server.js';
export { serve } from './serve.js';
export type { ServeOptions, Server } from './serve.js';
export { assertMount, mountModule } from './mount/mount.factory.js';
export type { HostRequest, MountOptions, Surface } from './mount/mount.js';
