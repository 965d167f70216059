import { pathList, variableNames } from './env-value.schema.js';
import { outgoingTargets, portList } from './outgoing-target.parser.js';

/** What tools may reach, and what stands in files. */
export const TOOL_VARIABLES = {
  REST_TOOLS: pathList()
    .optional()
    .describe(
      'Files that declare REST tools, comma-separated, such as `config/rest-tools.json`, as docs/rest-tools.md says',
    ),
  TOOL_SECRETS: variableNames()
    .optional()
    .describe(
      'Names of the variables whose values such files may use to authenticate, comma-separated; no other variable can be named there',
    ),
  OUTGOING_ALLOW: outgoingTargets()
    .optional()
    .describe(
      'Places that are not public and that tools may call all the same, comma-separated: `host[:port]`, `*.internal.example`, an address or a range such as `10.1.0.0/16`',
    ),
  OUTGOING_PORTS: portList()
    .optional()
    .describe(
      'The only ports that tools may call, comma-separated, such as `443`; those of `OUTGOING_ALLOW` come on top',
    ),
};
