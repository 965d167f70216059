/** Tables and views that the user may read, one row per column. */
export const MARIADB_SCHEMA = `
  SELECT c.TABLE_SCHEMA AS table_schema, c.TABLE_NAME AS table_name,
    CASE t.TABLE_TYPE WHEN 'VIEW' THEN 'view' ELSE 'table' END AS kind,
    c.COLUMN_NAME AS column_name, c.COLUMN_TYPE AS type, c.IS_NULLABLE = 'YES' AS is_nullable, c.COLUMN_KEY = 'PRI' AS is_key,
    (
      SELECT CONCAT(k.REFERENCED_TABLE_NAME, '.', k.REFERENCED_COLUMN_NAME) FROM information_schema.KEY_COLUMN_USAGE k
      WHERE k.TABLE_SCHEMA = c.TABLE_SCHEMA AND k.TABLE_NAME = c.TABLE_NAME AND k.COLUMN_NAME = c.COLUMN_NAME
        AND k.REFERENCED_TABLE_NAME IS NOT NULL
      LIMIT 1
    ) AS refers_to
  FROM information_schema.COLUMNS c
    JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
  WHERE c.TABLE_SCHEMA = DATABASE()
  ORDER BY c.TABLE_NAME, c.ORDINAL_POSITION`;
