import type { ExtensionHost } from './extension.types.js';

/**
 * Port for extensions: a unit of tools, policies, processors, providers and listeners that is added to agents together.
 * An extension is a Nest provider: it supports injection, `@Tool` and `@OnEvent` methods, and shutdown hooks.
 */
export abstract class Extension {
  /** Unique in the application. */
  abstract readonly name: string;
  /** Version of the extension: `1.4.0`. */
  abstract readonly version: string;
  /**
   * Extensions that must register and boot first: `audit`, or `audit@^1.2.0` for that or a later, compatible version.
   */
  readonly dependencies: readonly string[] = [];

  /** Registers its parts. Called once, after its dependencies have registered. An error fails the boot. */
  register(_agent: ExtensionHost): void | Promise<void> {}

  /** Starts its work. Called once, after all have registered and before runs resume. An error fails the boot. */
  boot(): void | Promise<void> {}
}
