// No static imports: imported modules may fail to load on an older Node.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const isOldNode = major < 22 || (major === 22 && minor < 19) || Number(process.versions.napi) < 10;
if (isOldNode) {
  process.stderr.write(
    `Jackdaw needs Node 22.19 or newer, this is ${process.version}. Install Node 24; on Linux with glibc \`npm ci && npm start\` brings one.\n`,
  );
  process.exit(1);
}

try {
  const [{ compileCacheFolder, workersToStart }, { enableCompileCache }, { setFlagsFromString }] = await Promise.all([
    import('./config/worker.loader.js'),
    import('node:module'),
    import('node:v8'),
  ]);
  // Node stores the code of 2,000 files when the process exits. NODE_COMPILE_CACHE names another folder, and
  // NODE_DISABLE_COMPILE_CACHE=1 switches it off.
  const folder = compileCacheFolder();
  if (folder !== undefined) enableCompileCache(folder);
  const workers = workersToStart();
  if (workers > 1) {
    // The supervisor loads neither Nest nor the application.
    const { supervise } = await import('./server/supervisor/supervise.js');
    await supervise(workers);
  } else {
    // Modules and providers stay. V8 would take their creation for load, and reserve 50 MB for further objects.
    setFlagsFromString('--semi-space-growth-factor=1');
    const { serve } = await import('./server/bootstrap.js');
    await serve();
    setFlagsFromString('--semi-space-growth-factor=2');
  }
} catch (error) {
  const isOurs = error instanceof Error && error.name === 'AppError';
  process.stderr.write(`${isOurs ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  // A supervisor need not restart it: the other process keeps the database (docs/platforms.md).
  process.exit(isOurs && Reflect.get(error, 'code') === 'DATABASE_LOCKED' ? 78 : 1);
}

export {};
