export function binary(length: number, start?: string): Buffer<ArrayBuffer>;
export const PNG: Buffer<ArrayBuffer>;
