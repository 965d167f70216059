import { AppError } from './app.error.js';

/**
 * Loads an optional peer dependency.
 * @param name name of the package, as the import in `load`
 * @param purpose the use that needs the package, as a subject: `DATABASE_URL with PostgreSQL`
 * @throws AppError `CONFIG_INVALID` with the install command if the package is missing
 */
export async function loadPackage<T>(name: string, purpose: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    const message = `${purpose} needs the package ${name}, which is not installed: npm install ${name}`;
    throw new AppError('CONFIG_INVALID', message, { cause: error });
  }
}

/** Whether the package itself is missing, not a dependency of it. */
function isMissing(error: unknown, name: string): boolean {
  const { code, message } = (error ?? {}) as Partial<Record<'code' | 'message', string>>;
  return code === 'ERR_MODULE_NOT_FOUND' && message?.includes(`Cannot find package '${name}'`) === true;
}

/** The exports of a CommonJS package from `import()`: bundlers put them into `default` only. */
export function exportsOf<T extends object>(module: T): T {
  const names = Object.keys(module);
  return names.length === 1 && names[0] === 'default' ? (module as unknown as { readonly default: T }).default : module;
}
