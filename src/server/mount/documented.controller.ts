import { Controller, type FactoryProvider, RequestMethod, type Type } from '@nestjs/common';
import {
  EXCEPTION_FILTERS_METADATA,
  GUARDS_METADATA,
  METHOD_METADATA,
  PARAMTYPES_METADATA,
  PATH_METADATA,
  SELF_DECLARED_DEPS_METADATA,
} from '../../kernel/nest/nest-metadata.js';
import { MountGuard } from './mount.guard.js';
import type { Mount } from './mount.js';
import { isSelected } from './mount.js';

/** Loads the types of the routes before the host creates its document. */
export const documentationProvider: FactoryProvider = {
  provide: Symbol('DOCUMENTATION'),
  useFactory: async () => {
    const { loadTypes } = await import('../../openapi/index.js');
    await loadTypes();
  },
};

/**
 * A controller of the host for each controller of a mount, with the same metadata: its document then has the selected
 * routes. Their handlers never run, as the guard answers.
 */
export function documentedControllers({ path, surface, routes }: Mount): Type[] {
  return surface.controllers.flatMap((controller) => {
    const base = String(Reflect.getMetadata(PATH_METADATA, controller)).replace(/^\/$/, '');
    const names = Object.getOwnPropertyNames(controller.prototype).filter((name) => routeOf(controller, name, base));
    const selected = names.filter((name) => isSelected(routeOf(controller, name, base)!, routes));
    return selected.length === 0 ? [] : [mirrorOf(controller, [path, base].filter(Boolean).join('/'), names, selected)];
  });
}

/** @returns such as `GET runs/:id`; `undefined` for a method without a route */
function routeOf(controller: Type, name: string, base: string): string | undefined {
  const handler = handlerOf(controller, name);
  const path: unknown = handler === controller ? undefined : Reflect.getMetadata(PATH_METADATA, handler);
  if (typeof path !== 'string') return undefined;
  const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod];
  return `${method} ${[base, path].join('/').replace(/^\/|\/+$/g, '')}`;
}

function mirrorOf(controller: Type, path: string, names: readonly string[], selected: readonly string[]): Type {
  const mirror = { [controller.name]: class extends controller {} }[controller.name]!;
  Controller(path)(mirror);
  Reflect.defineMetadata(GUARDS_METADATA, [MountGuard], mirror);
  for (const inherited of [EXCEPTION_FILTERS_METADATA, PARAMTYPES_METADATA, SELF_DECLARED_DEPS_METADATA]) {
    Reflect.defineMetadata(inherited, [], mirror);
  }
  for (const name of names) {
    const handler = { [name]: () => undefined }[name]!;
    Object.defineProperty(mirror.prototype, name, { value: handler, configurable: true });
    // A method without metadata is no route.
    if (selected.includes(name)) copyMetadata(handlerOf(controller, name), handler);
  }
  return mirror;
}

function handlerOf({ prototype }: Type, name: string): object {
  return (prototype as Readonly<Record<string, object>>)[name]!;
}

function copyMetadata(from: object, to: object): void {
  for (const key of Reflect.getMetadataKeys(from) as unknown[]) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, from), to);
  }
}
