import { Module, type DynamicModule, type InjectionToken, type Provider, type Type } from '@nestjs/common';
import { Cache, OWN_CACHE } from './cache/index.js';
import { AppError } from './errors/index.js';
import { OWN_TURN_ARCHIVE, TurnArchive } from './session/index.js';
import { OWN_MEMORIES, type OwnMemories } from './session/memory/index.js';
import { OWN_STATE_STORES, StateStore } from './tool-state/index.js';

/** An application's implementation of a port: a class, which Nest instantiates, or an object. */
type OwnPart<T extends object> = Type<T> | T;

/** Stores, caches and memories that an application brings; docs/custom-stores.md. */
export interface OwnPartsOptions {
  /** Stores replies of models and results of tools; replaces `LLM_CACHE`. A class, which Nest instantiates, or an object. */
  readonly cache?: OwnPart<Cache>;
  /** Stores the turns of sessions; replaces `SESSION_STORE`. A class, which Nest instantiates, or an object. */
  readonly sessionStore?: OwnPart<TurnArchive>;
  /** Stores of tool states by name. A tool selects one with `stateful: { manager: name }`. */
  readonly stateManagers?: Readonly<Record<string, OwnPart<StateStore>>>;
  /** Memories by name. An agent selects one with `memory: { policy: name }`. */
  readonly memories?: OwnMemories;
}

type NamedProvider = Exclude<Provider, Type>;

/** Provides the parts, or `null`, to the modules of all layers. */
@Module({})
export class OwnPartsModule {
  /** @throws AppError `CONFIG_INVALID` for a part whose class does not extend its port */
  static forRoot({ cache, sessionStore, stateManagers, memories = {} }: OwnPartsOptions): DynamicModule {
    const stores = byName(OWN_STATE_STORES, 'stateManagers', StateStore, stateManagers);
    return {
      module: OwnPartsModule,
      global: true,
      providers: [
        ownPart(OWN_CACHE, 'cache', Cache, cache),
        ownPart(OWN_TURN_ARCHIVE, 'sessionStore', TurnArchive, sessionStore),
        ...stores,
        { provide: OWN_MEMORIES, useValue: memories },
      ],
      exports: [OWN_CACHE, OWN_TURN_ARCHIVE, OWN_STATE_STORES, OWN_MEMORIES],
    };
  }
}

function ownPart<T extends object>(
  token: InjectionToken,
  option: string,
  port: Function & { readonly prototype: T },
  part: OwnPart<T> | undefined,
): NamedProvider {
  if (part === undefined) return { provide: token, useValue: null };
  const instance: unknown = typeof part === 'function' ? part.prototype : part;
  if (!(instance instanceof port)) {
    throw new AppError('CONFIG_INVALID', `${option} is no ${port.name}: its class must extend ${port.name}.`);
  }
  return typeof part === 'function' ? { provide: token, useClass: part } : { provide: token, useValue: part };
}

function byName<T extends object>(
  token: InjectionToken,
  option: string,
  port: Function & { readonly prototype: T },
  parts: Readonly<Record<string, OwnPart<T>>> = {},
): NamedProvider[] {
  const named = Object.entries(parts).map(([name, part]) => ({ name, token: Symbol(`${option}.${name}`), part }));
  return [
    ...named.map((one) => ownPart(one.token, `${option}.${one.name}`, port, one.part)),
    {
      provide: token,
      useFactory: (...made: T[]) => new Map(named.map(({ name }, at) => [name, made[at]!])),
      inject: named.map((one) => one.token),
    },
  ];
}
