import { pathList, variableNames } from './env-value.schema.js';
import { outgoingTargets, portList } from './outgoing-target.parser.js';

/** The variables of tools: files and network access. */
export const TOOL_VARIABLES = {
  REST_TOOLS: pathList()
    .optional()
    .describe('Files that declare REST tools, comma-separated, such as `config/rest-tools.json` (docs/rest-tools.md)'),
  TOOL_SECRETS: variableNames()
    .optional()
    .describe(
      'Names of the variables that these files may use as secrets, comma-separated; other variables cannot be used',
    ),
  OUTGOING_ALLOW: outgoingTargets()
    .optional()
    .describe(
      'Non-public targets that tools may call, comma-separated: `host[:port]`, `*.internal.example`, an address or a range such as `10.1.0.0/16`',
    ),
  OUTGOING_PORTS: portList()
    .optional()
    .describe(
      'Permitted ports of tool calls, comma-separated, such as `443`, in addition to those of `OUTGOING_ALLOW`; by default all',
    ),
};
