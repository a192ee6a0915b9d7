FROM starling-airgapped-base
COPY fhir-server /usr/local/bin/fhir-server
USER nobody
EXPOSE 8080 9464
ENTRYPOINT ["/usr/local/bin/fhir-server"]
CMD ["serve"]
