import { AppError } from './app.error.js';

/**
 * Loads code that needs optional peer dependencies.
 * @param names the packages, as the code in `load` imports them
 * @param purpose the use that needs the packages, as a subject: `DATABASE_URL with PostgreSQL`
 * @throws AppError `CONFIG_INVALID` with the install command if packages are missing
 */
export async function loadPackage<T>(
  names: string | readonly string[],
  purpose: string,
  load: () => Promise<T>,
): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const all = typeof names === 'string' ? [names] : names;
    if (!all.some((name) => isMissing(error, name))) throw error;
    const missing = all.filter((name) => isMissing(error, name) || !isInstalled(name));
    const what = missing.length === 1 ? `the package ${missing[0]}, which is` : `packages that are`;
    const message = `${purpose} needs ${what} not installed: npm install ${missing.join(' ')}`;
    throw new AppError('CONFIG_INVALID', message, { cause: error });
  }
}

/** Whether the package itself is missing, not a dependency of it. */
function isMissing(error: unknown, name: string): boolean {
  const { code, message } = (error ?? {}) as Partial<Record<'code' | 'message', string>>;
  return code === 'ERR_MODULE_NOT_FOUND' && message?.includes(`Cannot find package '${name}'`) === true;
}

function isInstalled(name: string): boolean {
  try {
    return import.meta.resolve(name) !== '';
  } catch {
    return false;
  }
}

/** The exports of a CommonJS package from `import()`: bundlers put them into `default` only. */
export function exportsOf<T extends object>(module: T): T {
  const names = Object.keys(module);
  return names.length === 1 && names[0] === 'default' ? (module as unknown as { readonly default: T }).default : module;
}
