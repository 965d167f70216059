import * as fc from 'fast-check';

/** Fragments of XML protocols, complete and broken, and text that resembles them. */
const MARKUP = [
  '<function_calls>',
  '</function_calls>',
  '<invoke name="noop">',
  '</invoke>',
  '<parameter name="a">',
  '</parameter>',
  '<function_results>',
  '</function_results>',
  '</result>',
  '<tool_call>',
  '</tool_call>',
  '{"name":"noop"}',
  '<![CDATA[',
  ']]>',
  '&lt;',
  '&amp;lt;',
  '&#10;',
  '\n',
  '\r\n',
  ' ',
  '<',
  '>',
  '&',
  '"',
  "'",
  '`',
  '```xml\n',
  '```',
  '< / INVOKE >',
  '<invoke name=noop>',
  '<｜DSML｜invoke name="noop"/>',
  'null',
  '5',
  '<function=noop>',
  '</function>',
  '<Function-Calls>',
  '<arg_key>',
  '</parameter',
  '<tool_response>',
  'text',
];

/** Any text, with frequent markup. */
export const wildMarkup = fc
  .array(fc.oneof(fc.constantFrom(...MARKUP), fc.string({ unit: 'binary', maxLength: 6 })), { maxLength: 12 })
  .map((parts) => parts.join(''));
