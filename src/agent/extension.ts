import type { ExtensionHost } from './extension.types.js';

/**
 * The port to what belongs together and is added to agents as one: tools, policies, processors, providers, listeners. A
 * provider of Nest like any other: it is injected what it needs, its methods may bear `@Tool` and `@OnEvent`, and it may
 * have Nest's shutdown hooks.
 */
export abstract class Extension {
  /** Unique in the application. */
  abstract readonly name: string;
  /** Of the extension itself: `1.4.0`. */
  abstract readonly version: string;
  /** The extensions that it builds on, which begin before it: `audit`, or `audit@^1.2.0` for that or a later, compatible version. */
  readonly dependencies: readonly string[] = [];

  /** Adds what it brings. Called once, after all that it depends on has registered. One that throws stops the start. */
  register(_agent: ExtensionHost): void | Promise<void> {}

  /** Begins its work. Called once, when every extension has registered, and before any run goes on. One that throws stops the start. */
  boot(): void | Promise<void> {}
}
