/** Tables and views that the role may read, one row per column. */
export const POSTGRES_SCHEMA = `
  SELECT c.table_schema, c.table_name,
    CASE t.table_type WHEN 'VIEW' THEN 'view' ELSE 'table' END AS kind,
    c.column_name,
    CASE WHEN c.data_type IN ('USER-DEFINED', 'ARRAY') THEN c.udt_name ELSE c.data_type END AS type,
    c.is_nullable = 'YES' AS is_nullable,
    EXISTS (
      SELECT 1 FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
      WHERE k.contype = 'p' AND k.conrelid = r.oid AND a.attname = c.column_name
    ) AS is_key,
    (
      SELECT f.relname || '.' || b.attname
      FROM pg_constraint k
        CROSS JOIN LATERAL unnest(k.conkey, k.confkey) AS pair (own, other)
        JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = pair.own
        JOIN pg_class f ON f.oid = k.confrelid
        JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = pair.other
      WHERE k.contype = 'f' AND k.conrelid = r.oid AND a.attname = c.column_name
      LIMIT 1
    ) AS refers_to
  FROM information_schema.columns c
    JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
    JOIN pg_namespace n ON n.nspname = c.table_schema
    JOIN pg_class r ON r.relnamespace = n.oid AND r.relname = c.table_name
  WHERE c.table_schema NOT IN ('pg_catalog', 'information_schema') AND has_column_privilege(r.oid, c.column_name::text, 'SELECT')
  ORDER BY c.table_schema, c.table_name, c.ordinal_position`;

/**
 * Rights of the role, or of a role that it may assume, that a read-only transaction does not prevent: functions that
 * access the server's files or other servers, replication slots (which retain the log until the disk is full), and
 * superuser rights.
 */
export const POSTGRES_RIGHTS = `
  WITH mine AS (SELECT oid, rolname, rolsuper, rolreplication FROM pg_roles WHERE pg_has_role(session_user, oid, 'MEMBER'))
  SELECT session_user AS role, ARRAY(
    SELECT 'superuser' FROM mine WHERE rolsuper AND rolname = session_user
    UNION
    SELECT 'REPLICATION' FROM mine WHERE rolreplication AND rolname = session_user
    UNION
    SELECT 'SET ROLE ' || quote_ident(rolname) FROM mine WHERE (rolsuper OR rolreplication) AND rolname <> session_user
      AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = session_user)
    UNION
    SELECT p.proname || '()' FROM pg_proc p
    WHERE p.proname ~ '^(pg_read_(binary_)?file|pg_ls_.*|pg_stat_file|pg_file_.*|lo_import|lo_export|dblink.*|pg_reload_conf|pg_rotate_logfile|pg_create_restore_point|pg_switch_wal)$'
      AND EXISTS (SELECT 1 FROM mine WHERE has_function_privilege(mine.oid, p.oid, 'EXECUTE'))
    ORDER BY 1
  ) AS rights`;
