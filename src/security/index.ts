/** Who asks: API keys become principals, and a global guard lets no request through without one. */
export { CurrentPrincipal } from './current-principal.decorator.js';
export { PrincipalDirectory } from './principal-directory.js';
export type { PrincipalRequest } from './principal-request.types.js';
export { Public } from './public.decorator.js';
export { SecurityModule } from './security.module.js';
