import { PNG } from './contents.mjs';

/** The resources that the conformance suite reads. */
export const RESOURCES = [
  {
    uri: 'test://static-text',
    name: 'static text',
    description: 'Always the same text.',
    mimeType: 'text/plain',
    read: () => ({ text: 'This is the content of the static text resource.' }),
  },
  {
    uri: 'test://static-binary',
    name: 'static binary',
    description: 'Always the same picture.',
    mimeType: 'image/png',
    read: () => ({ blob: PNG }),
  },
  {
    uri: 'test://template/{id}/data',
    name: 'template',
    description: 'Data by their id.',
    mimeType: 'application/json',
    read: ({ id }) => ({ text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }),
  },
  {
    uri: 'test://watched-resource',
    name: 'watched',
    description: 'To be subscribed to.',
    mimeType: 'text/plain',
    read: () => ({ text: 'Watched.' }),
  },
];
