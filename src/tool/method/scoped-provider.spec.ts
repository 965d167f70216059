import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Inject, Injectable, type INestApplicationContext, Module, Scope } from '@nestjs/common';
import {
  type ContextId,
  ContextIdFactory,
  type ContextIdStrategy,
  type HostComponentInfo,
  INQUIRER,
  NestFactory,
  REQUEST,
} from '@nestjs/core';
import { ToolPortsModule } from '../../../test/support/tool-parts.js';
import { callSite } from '../../../test/support/call-site.js';
import { AppConfigModule } from '../../config/index.js';
import { ToolRequest } from '../call/tool-request.factory.js';
import { ToolModule } from '../tool.module.js';
import { ToolRegistry } from '../tool.registry.js';
import { Tool } from './tool.decorator.js';

const description = 'For a test.';
let made = 0;

interface Given {
  readonly at: number;
  readonly tenant?: string;
  readonly principal?: string;
  readonly isRequest?: boolean;
}

function given(at: number, request: ToolRequest | undefined): Given {
  if (!(request instanceof ToolRequest)) return { at, ...(request as object | undefined), isRequest: false };
  return { at, tenant: request.tenant, principal: request.principal.id, isRequest: true };
}

@Injectable({ scope: Scope.REQUEST })
class Basket {
  readonly at = ++made;
  constructor(@Inject(REQUEST) readonly request: ToolRequest) {}
}

@Injectable({ scope: Scope.REQUEST })
class RequestTools {
  private readonly at = ++made;
  constructor(
    @Inject(REQUEST) private readonly request: ToolRequest,
    private readonly basket: Basket,
  ) {}

  @Tool({ description })
  byRequest(): unknown {
    return { ...given(this.at, this.request), sharesRequest: this.basket.request === this.request };
  }
}

const attempts: number[] = [];

@Injectable({ scope: Scope.REQUEST })
class RetriedTools {
  private readonly at = ++made;

  @Tool({ description, effect: 'read', retries: 1 })
  failsOnce(): unknown {
    attempts.push(this.at);
    if (attempts.length === 1) throw new Error('not yet');
    return {};
  }
}

@Injectable({ scope: Scope.TRANSIENT })
class TransientTools {
  private readonly at = ++made;

  @Tool({ description })
  byTransient(): unknown {
    return given(this.at, undefined);
  }
}

@Injectable({ scope: Scope.TRANSIENT })
class TransientRequestTools {
  private readonly at = ++made;
  constructor(
    @Inject(REQUEST) private readonly request: ToolRequest,
    @Inject(INQUIRER) readonly inquirer: unknown,
  ) {}

  @Tool({ description })
  byTransientRequest(): unknown {
    return given(this.at, this.request);
  }
}

/** One instance per tenant. */
@Injectable({ scope: Scope.REQUEST, durable: true })
class TenantStore {
  readonly at = ++made;
  constructor(@Inject(REQUEST) readonly payload: ToolRequest) {}
}

@Injectable({ scope: Scope.REQUEST, durable: true })
class DurableTools {
  private readonly at = ++made;
  constructor(
    @Inject(REQUEST) private readonly payload: ToolRequest,
    private readonly store: TenantStore,
  ) {}

  @Tool({ description })
  byDurable(): unknown {
    return { ...given(this.at, this.payload), store: given(this.store.at, this.store.payload) };
  }
}

/** One instance per call, although its dependency has one per tenant. */
@Injectable({ scope: Scope.REQUEST })
class MixedTools {
  private readonly at = ++made;
  constructor(
    @Inject(REQUEST) private readonly request: ToolRequest,
    private readonly store: TenantStore,
  ) {}

  @Tool({ description })
  byMixed(): unknown {
    return { ...given(this.at, this.request), store: given(this.store.at, this.store.payload) };
  }
}

abstract class FactoryTools {
  abstract readonly at: number;
  abstract readonly request: ToolRequest;

  @Tool({ description })
  byFactory(): unknown {
    return given(this.at, this.request);
  }
}

class MadeTools extends FactoryTools {
  readonly at = ++made;
  constructor(readonly request: ToolRequest) {
    super();
  }
}

/** A tenant-based strategy, as an application would define it. */
class TenantStrategy implements ContextIdStrategy<ToolRequest> {
  private readonly tenants = new Map<string, ContextId>();

  attach(contextId: ContextId, request: ToolRequest) {
    const { tenant } = request;
    const tenantId = this.tenants.get(tenant) ?? ContextIdFactory.create();
    this.tenants.set(tenant, tenantId);
    return {
      resolve: ({ isTreeDurable }: HostComponentInfo) => (isTreeDurable ? tenantId : contextId),
      payload: { tenant },
    };
  }
}

@Module({
  imports: [AppConfigModule.forRoot({}), ToolPortsModule, ToolModule],
  providers: [
    Basket,
    RequestTools,
    RetriedTools,
    TransientTools,
    TransientRequestTools,
    TenantStore,
    DurableTools,
    MixedTools,
    {
      provide: FactoryTools,
      scope: Scope.REQUEST,
      inject: [REQUEST],
      useFactory: (request: ToolRequest) => new MadeTools(request),
    },
    { provide: 'ALIAS', useExisting: RequestTools },
  ],
})
class AppModule {}

let app: INestApplicationContext;
const start = async () => {
  app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
};

async function call(name: string, tenant: string, id = 'ann'): Promise<Given & { readonly store: Given }> {
  const site = callSite({ principal: { id, tenant, roles: [] } });
  return (await app.get(ToolRegistry).call(name, {}, site)) as Given & { readonly store: Given };
}

const ANN = { tenant: 'acme', principal: 'ann', isRequest: true };
const EVE = { tenant: 'other', principal: 'eve', isRequest: true };

describe('a tool of a scoped provider', () => {
  beforeAll(start);
  afterAll(() => app.close());

  it.each(['byRequest', 'byTransientRequest', 'byFactory', 'byMixed', 'byDurable'])(
    'creates an instance for each call, with the call as its REQUEST: %s',
    async (name) => {
      const [first, second, third] = [
        await call(name, 'acme'),
        await call(name, 'acme'),
        await call(name, 'other', 'eve'),
      ];
      expect([first, second, third]).toMatchObject([ANN, ANN, EVE]);
      expect(new Set([first, second, third].map(({ at }) => at)).size).toBe(3);
    },
  );

  it('shares the request-scoped providers of its call with the instance', async () => {
    expect(await call('byRequest', 'acme')).toMatchObject({ sharesRequest: true });
  });

  it('creates an instance for each call when the provider is transient', async () => {
    const [first, second] = [await call('byTransient', 'acme'), await call('byTransient', 'acme')];
    expect(first.at).not.toBe(second.at);
  });

  it('creates a separate instance for each attempt of a call', async () => {
    await call('failsOnce', 'acme');
    expect(new Set(attempts).size).toBe(2);
  });

  it('separates concurrent calls', async () => {
    const ids = Array.from({ length: 40 }, (_, at) => `user-${at}`);
    const results = await Promise.all(ids.map((id) => call('byRequest', `tenant-of-${id}`, id)));
    expect(results).toMatchObject(ids.map((id) => ({ principal: id, tenant: `tenant-of-${id}` })));
    expect(new Set(results.map(({ at }) => at)).size).toBe(40);
  });

  it('is registered once although the provider has an alias', () => {
    const names = app
      .get(ToolRegistry)
      .list()
      .map(({ definition }) => definition.name);
    expect(names.filter((name) => name === 'byRequest')).toHaveLength(1);
  });
});

describe('a tool of a durable provider with a context strategy by tenant', () => {
  beforeAll(async () => {
    ContextIdFactory.apply(new TenantStrategy());
    await start();
  });
  afterAll(async () => {
    ContextIdFactory.apply(undefined as unknown as ContextIdStrategy);
    await app.close();
  });

  it('creates an instance for each tenant, with the payload of the strategy as its REQUEST', async () => {
    const first = await call('byDurable', 'acme');
    const second = await call('byDurable', 'acme', 'bob');
    const other = await call('byDurable', 'other', 'eve');
    expect(first).toMatchObject({ tenant: 'acme', isRequest: false, store: { tenant: 'acme', isRequest: false } });
    expect(first).not.toHaveProperty('principal');
    expect(second).toEqual(first);
    expect(other).toMatchObject({ tenant: 'other', isRequest: false });
    expect(other.at).not.toBe(first.at);
  });

  it('creates an instance for each call that uses an instance for each tenant, which never sees a call', async () => {
    const [first, second] = [await call('byMixed', 'fresh', 'ann'), await call('byMixed', 'fresh', 'bob')];
    expect([first.principal, second.principal]).toEqual(['ann', 'bob']);
    expect(first.at).not.toBe(second.at);
    expect(second.store).toEqual(first.store);
    expect(first.store).toEqual({ at: first.store.at, tenant: 'fresh', isRequest: false });
    expect((await call('byDurable', 'fresh')).store).toEqual(first.store);
  });

  it('creates an instance for each call when the provider is only request-scoped or transient', async () => {
    for (const name of ['byRequest', 'byTransientRequest', 'byFactory']) {
      const [first, second] = [await call(name, 'acme'), await call(name, 'acme')];
      expect([first, second]).toMatchObject([ANN, ANN]);
      expect(first.at).not.toBe(second.at);
    }
  });
});
