// Names the modules as users import them, and omits constructors that only Nest calls.
import { Application, Comment, Converter, ReflectionKind } from 'typedoc';

/** The imports of users by the names of their declaration files, with their purposes. */
const ENTRIES = {
  index: ['jackdaw', 'The whole API: agents, tools, modules of Nest, models, services and ports.'],
  tool: ['jackdaw/tool', 'For providers with tools. It loads little, so that their specs start quickly.'],
  client: ['jackdaw/client', 'A client of the REST API for browsers and Node.'],
  testing: ['jackdaw/testing', 'Contract suites for your own stores.'],
};

/** `constructor(...injected: never[])`, as scripts/public-types.mjs writes it. */
const isInjected = ({ signatures }) => signatures?.[0]?.parameters?.[0]?.name === 'injected';

/** Without parameters of the type: the search shows titles as plain text. */
const titleOf = ({ rawName }) => rawName.replace(/<.*/, '');

/** Called by TypeDoc. */
export function load(application) {
  application.on(Application.EVENT_BOOTSTRAP_END, ({ options }) =>
    options.setValue('pageTitleTemplates', { index: '{projectName}', module: '{name}', member: titleOf }),
  );
  application.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const constructor of project.getReflectionsByKind(ReflectionKind.Constructor)) {
      if (isInjected(constructor)) project.removeReflection(constructor);
    }
    for (const module of project.getReflectionsByKind(ReflectionKind.Module)) {
      const [name, text] = ENTRIES[module.name];
      module.name = name;
      module.comment ??= new Comment([{ kind: 'text', text }]);
    }
  });
}
