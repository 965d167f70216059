import { RunHandlerRegistry, RunService } from '../../dist/run/index.js';

/** Acts as a release with another loop: new runs get its version, and only runs of the listed versions are replayed. */
export function changeLoop(app, own, replayed) {
  const runs = app.get(RunService, { strict: false });
  for (const method of ['start', 'submit']) {
    const begin = runs[method].bind(runs);
    runs[method] = (start, ...rest) => begin({ ...start, loopVersion: own }, ...rest);
  }
  for (const handler of app.get(RunHandlerRegistry, { strict: false }).all()) {
    const real = handler.loopVersions.at(-1);
    const execute = handler.execute.bind(handler);
    handler.loopVersions = replayed;
    handler.execute = (run, context) => {
      return execute({ ...run, loopVersion: replayed.includes(run.loopVersion) ? real : -1 }, context);
    };
  }
}
