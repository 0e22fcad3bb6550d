-- Roles for a gateway on PostgreSQL, made by a superuser: psql -v owner_password=… -v gateway_password=… -f roles.sql
-- The owner makes and changes the tables: start a new version once with its DATABASE_URL. The gateway's role reads and writes rows.
CREATE ROLE prism_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE prism_gateway LOGIN PASSWORD :'gateway_password' CONNECTION LIMIT 80;
CREATE DATABASE prism OWNER prism_owner ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0;
REVOKE ALL ON DATABASE prism FROM PUBLIC;
GRANT CONNECT ON DATABASE prism TO prism_gateway;
\connect prism
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT ALL ON SCHEMA public TO prism_owner;
GRANT USAGE ON SCHEMA public TO prism_gateway;
ALTER DEFAULT PRIVILEGES FOR ROLE prism_owner IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO prism_gateway;
