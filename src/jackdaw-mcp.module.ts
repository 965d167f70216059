import { type DynamicModule, Module } from '@nestjs/common';
import { MCP_PATH, MCP_ROUTES } from './mcp-server/index.js';
import { assertMount, type HostRequest, mountModule, type MountOptions } from './server/index.js';

export interface JackdawMcpOptions<Request extends object = HostRequest> extends MountOptions<Request> {
  /** Path of the endpoint below the global prefix of the application; default `mcp`. */
  readonly path?: string;
}

/** The MCP server of Jackdaw as a route of an application; docs/mcp-server.md. */
@Module({})
export class JackdawMcpModule {
  /** @throws AppError `CONFIG_INVALID` without `principal`, and for an unknown option or an invalid path */
  static forRoot<Request extends object = HostRequest>(options: JackdawMcpOptions<Request>): DynamicModule {
    const { path = MCP_PATH, principal } = options;
    const mount = { name: 'JackdawMcpModule.forRoot', path, principal };
    assertMount(mount, options, ['path', 'principal']);
    return mountModule(JackdawMcpModule, {
      ...mount,
      surface: { ...MCP_ROUTES, prefix: '', base: `/${MCP_PATH}` },
    });
  }
}
