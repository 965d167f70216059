/** One booted Nest application a file: the heap grows by about 28 MB for each, so workers are recycled. */
export default {
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  // `npm run test:integrations` runs them: they have an installation of their own.
  testPathIgnorePatterns: ['/node_modules/', ...(process.env.INTEGRATIONS ? [] : ['<rootDir>/test/integrations/'])],
  modulePathIgnorePatterns: ['<rootDir>/test/(integrations|clients)/(node_modules|generated)/'],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^jackdaw$': '<rootDir>/src/index.ts',
    '^jackdaw/testing$': '<rootDir>/src/testing/index.ts',
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
