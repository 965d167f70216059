// Preloaded into a process, it takes away the parts of Linux that other systems lack: /proc is empty, a folder cannot be
// synced, and a signal to a process group fails. RENAME_FAULTS is the number of renames that fail as on Windows while
// another process has the file open.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const isHidden = (path) => /^\/proc(\/|$)/.test(String(path));

function missing(path) {
  return Object.assign(new Error(`ENOENT: no such file or directory, '${path}'`), { code: 'ENOENT' });
}

function refused() {
  return Object.assign(new Error('EPERM: operation not permitted, fsync'), { code: 'EPERM' });
}

for (const name of ['readFileSync', 'readdirSync', 'readlinkSync', 'openSync', 'statSync', 'existsSync']) {
  const original = fs[name];
  fs[name] = (path, ...rest) => {
    if (!isHidden(path)) return original(path, ...rest);
    if (name === 'existsSync') return false;
    throw missing(path);
  };
}
for (const name of ['readFile', 'readdir', 'readlink', 'stat']) {
  const original = fs.promises[name];
  fs.promises[name] = async (path, ...rest) => {
    if (isHidden(path)) throw missing(path);
    return original(path, ...rest);
  };
}

const { open } = fs.promises;
fs.promises.open = async (path, ...rest) => {
  if (isHidden(path)) throw missing(path);
  const handle = await open(path, ...rest);
  if ((await handle.stat()).isDirectory()) handle.sync = async () => Promise.reject(refused());
  return handle;
};
const { fsyncSync } = fs;
fs.fsyncSync = (file) => {
  if (fs.fstatSync(file).isDirectory()) throw refused();
  fsyncSync(file);
};

let faults = Number(process.env.RENAME_FAULTS ?? 0);
if (faults > 0) {
  const { rename } = fs.promises;
  Object.defineProperty(process, 'platform', { value: 'win32' });
  fs.promises.rename = async (...paths) => {
    if (faults-- > 0) throw Object.assign(new Error('EBUSY: resource busy or locked, rename'), { code: 'EBUSY' });
    return rename(...paths);
  };
}

const kill = process.kill.bind(process);
process.kill = (pid, signal) => {
  if (pid < 0) throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
  return kill(pid, signal);
};

syncBuiltinESMExports();
