FROM starling-airgapped-base
COPY programs/ /usr/local/pgsql/
COPY postgres-entrypoint /usr/local/bin/postgres-entrypoint
RUN mkdir -p /var/lib/postgresql /run/postgresql && chown postgres:postgres /var/lib/postgresql /run/postgresql
USER postgres
EXPOSE 5432
STOPSIGNAL SIGINT
ENTRYPOINT ["/usr/local/bin/postgres-entrypoint"]
CMD ["postgres"]
