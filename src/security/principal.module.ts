import { Module, type DynamicModule, type Provider, type Type } from '@nestjs/common';
import { securityConfig, type SecurityConfig } from '../config/namespaces/index.js';
import {
  ApiKeyAuthenticator,
  KeyUseRegistry,
  LocalAuthenticator,
  RequestAuthenticator,
} from './request-authenticator.service.js';
import { ApiKeyRegistry } from './api-key.registry.js';
import { Authenticator, PrincipalDirectory } from './authorization.js';
import { BrowserSessionService } from './browser/browser-session.service.js';
import { ApiKeyService } from './keys/api-key.service.js';
import { ApiKeyStore } from './keys/api-key.store.js';
import { StoredKeyRegistry } from './keys/stored-key.registry.js';

/** Provides authentication. Global, so that runs can look up their principals. */
@Module({})
export class PrincipalModule {
  /** @param own an authenticator that replaces API keys: a class, which Nest instantiates, or an object */
  static forRoot(own?: Type<Authenticator> | Authenticator): DynamicModule {
    return {
      module: PrincipalModule,
      global: true,
      providers: [
        {
          provide: ApiKeyRegistry,
          useFactory: ({ apiKeys }: SecurityConfig) => new ApiKeyRegistry(apiKeys),
          inject: [securityConfig.KEY],
        },
        {
          provide: KeyUseRegistry,
          useFactory: ({ apiKeys }: SecurityConfig, store: ApiKeyStore) =>
            new KeyUseRegistry(own !== undefined || apiKeys.length > 0, store),
          inject: [securityConfig.KEY, ApiKeyStore],
        },
        ApiKeyStore,
        StoredKeyRegistry,
        ApiKeyService,
        ApiKeyAuthenticator,
        toProvider(own ?? LocalAuthenticator),
        { provide: PrincipalDirectory, useExisting: Authenticator },
        BrowserSessionService,
        RequestAuthenticator,
      ],
      exports: [
        Authenticator,
        PrincipalDirectory,
        KeyUseRegistry,
        ApiKeyService,
        BrowserSessionService,
        RequestAuthenticator,
      ],
    };
  }
}

function toProvider(own: Type<Authenticator> | Authenticator): Provider {
  return typeof own === 'function'
    ? { provide: Authenticator, useClass: own }
    : { provide: Authenticator, useValue: own };
}
