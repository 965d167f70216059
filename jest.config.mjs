/** One booted Nest application a file: the heap grows by about 28 MB for each, so workers are recycled. */
export default {
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  // Their own npm scripts run them: some have installations of their own, `test:portability` is long.
  testPathIgnorePatterns: [
    '/node_modules/',
    ...(process.env.INTEGRATIONS ? [] : ['<rootDir>/test/integrations/']),
    ...(process.env.PORTABILITY ? [] : ['<rootDir>/test/portability/']),
    ...(process.env.ENVIRONMENTS ? [] : ['<rootDir>/test/environments/']),
    ...(process.env.HOSTS_WHOLE ? [] : ['<rootDir>/test/hosts/']),
  ],
  modulePathIgnorePatterns: ['<rootDir>/test/(integrations|clients|environments)/(node_modules|generated|host)/'],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^jackdaw$': '<rootDir>/src/index.ts',
    '^jackdaw/testing$': '<rootDir>/src/testing/index.ts',
    '^jackdaw/tool$': '<rootDir>/src/tool-entry.ts',
  },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2023',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
        },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  // For two cores: half of the time of a worker is waiting for disks, databases, child processes and timers.
  maxWorkers: 4,
  workerIdleMemoryLimit: '512MB',
  // Ends a test that hangs, and judges no speed: whole-application tests start processes, which takes long on a busy machine.
  testTimeout: 180_000,
};
