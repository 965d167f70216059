import {
  AGENT_ELEMENT,
  type ElementRule,
  type ValueRule,
} from '../../src/definition-files/definition/agent-element.schema.js';

/** A value may also be a declared variable of any type. */
const HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<!-- Schema of agent files for editors: docs/agent-files.md. A test compares it with the rules of the parser. -->
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:simpleType name="variable"><xs:restriction base="xs:string"><xs:pattern value=".*\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}.*"/></xs:restriction></xs:simpleType>
  <xs:simpleType name="number"><xs:union memberTypes="xs:double variable"/></xs:simpleType>
  <xs:simpleType name="integer"><xs:union memberTypes="xs:integer variable"/></xs:simpleType>
  <xs:simpleType name="never"><xs:restriction base="xs:string"><xs:enumeration value="never"/></xs:restriction></xs:simpleType>
  <xs:simpleType name="integer-or-never"><xs:union memberTypes="xs:integer never variable"/></xs:simpleType>
  <xs:simpleType name="boolean"><xs:union memberTypes="xs:boolean variable"/></xs:simpleType>
`;

/** The schema in docs/schemas/agent.xsd. */
export function renderAgentXsd(): string {
  return `${HEAD}${element('agent', AGENT_ELEMENT, '  ', '')}</xs:schema>\n`;
}

function element(name: string, rule: ElementRule, indent: string, occurs: string): string {
  const inner = `${indent}    `;
  const children = Object.entries(rule.children).map(([child, one]) => element(child, one, `${inner}  `, ''));
  const choice = `${inner}<xs:choice minOccurs="0" maxOccurs="unbounded">\n${children.join('')}${inner}</xs:choice>\n`;
  const attributes = Object.entries(rule.attributes)
    // XML Schema allows its own attributes everywhere.
    .filter(([attribute]) => !attribute.startsWith('xmlns:') && !attribute.startsWith('xsi:'))
    .map(([attribute, one]) => `${inner}${attributeOf(attribute, one)}\n`);
  const mixed = rule.text ? ' mixed="true"' : '';
  const body = `${children.length > 0 ? choice : ''}${attributes.join('')}`;
  return `${indent}<xs:element name="${name}"${occurs}>\n${indent}  <xs:complexType${mixed}>\n${body}${indent}  </xs:complexType>\n${indent}</xs:element>\n`;
}

function attributeOf(name: string, { kind, isRequired }: ValueRule): string {
  const use = isRequired ? ' use="required"' : '';
  if (typeof kind === 'string') {
    return `<xs:attribute name="${name}" type="${/text|json/.test(kind) ? 'xs:string' : kind}"${use}/>`;
  }
  const values = kind.map((value) => `<xs:enumeration value="${value}"/>`).join('');
  const own = `<xs:simpleType><xs:restriction base="xs:string">${values}</xs:restriction></xs:simpleType>`;
  return `<xs:attribute name="${name}"${use}><xs:simpleType><xs:union memberTypes="variable">${own}</xs:union></xs:simpleType></xs:attribute>`;
}
