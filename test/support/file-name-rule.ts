const SUFFIXES =
  'module controller service data registry explorer accessor executor engine protocol processor node parser loader factory builder decorator guard interceptor pipe filter indicator policy wrapper mapper handler store client model tool entity migration dto schema types error config'.split(
    ' ',
  );
const VAGUE = ['util', 'utils', 'helper', 'helpers', 'misc', 'common'];

const NAME = new RegExp(`^[a-z0-9]+(-[a-z0-9]+)*(\\.(${SUFFIXES.join('|')}))?(\\.spec)?\\.ts$`);

/**
 * The fault of a path under src/, if any. A file is named after its export: `kebab-case.suffix.ts` with a suffix of the
 * list, else the plain noun (`semaphore.ts`). `index.ts` has the public names of a folder
 * of src/, or of a folder in it.
 */
export function fileNameFault(path: string): string | undefined {
  const folders = path.split('/');
  const file = folders.pop() ?? '';
  if (folders.some((folder) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(folder))) return `${path}: a folder is kebab-case`;
  if (file === 'index.ts')
    return folders.length <= 2 ? undefined : `${path}: only a module or a part of one has an index.ts`;
  if (!NAME.test(file)) return `${path}: not kebab-case with at most one suffix of the list`;
  if (file.split(/[.-]/).some((word) => VAGUE.includes(word))) return `${path}: a vague name`;
  return undefined;
}
